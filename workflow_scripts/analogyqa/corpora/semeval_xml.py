"""Parse the XML of SemEval's community question answering, with line numbers for messages."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax import SAXException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import Locator

from defusedxml.sax import parseString

from analogyqa.corpora.table import clean_id
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.text import nfc

_LINE = "#line"  # not a valid XML attribute name, so it clashes with none


class Release:
    """One file of a release. Its errors name the file and the line."""

    def __init__(self, path: str | Path) -> None:
        """Parse a file, or raise AnalogyQAError for malformed XML or an entity declaration."""
        self.path, self._root = path, _parse(path)

    def iter(self, tag: str) -> Iterator[Element]:
        """Yield the elements with a tag, in the order of the file."""
        return self._root.iter(tag)

    def line(self, element: Element) -> int:
        return int(element.attrib[_LINE])

    def fail(self, element: Element, cause: str) -> AnalogyQAError:
        """Return an error about an element."""
        return AnalogyQAError(
            f"{self.path}, line {self.line(element)}: {cause}. Correct the file, or fetch it again."
        )

    def attribute(self, element: Element, name: str) -> str:
        if name not in element.attrib:
            raise self.fail(element, f"a {element.tag} without {name}")
        return element.attrib[name]

    def id(self, element: Element, name: str) -> str:
        """Return the id in an attribute, normalised by `clean_id`."""
        return clean_id(self.attribute(element, name))

    def text(self, element: Element, *names: str) -> str:
        """Return the joined text of one child element of each name, with single spaces."""
        texts = []
        for name in names:
            children = element.findall(name)
            if len(children) != 1:
                cause = f"a {element.tag} with {len(children)} {name} instead of one"
                raise self.fail(element, cause)
            texts.append("".join(children[0].itertext()))
        return nfc(" ".join(" ".join(texts).split()))

    def label(self, element: Element, name: str, labels: dict[str, int]) -> int:
        """Return the number that `labels` gives for an attribute's value."""
        value = self.attribute(element, name)
        if value not in labels:
            raise self.fail(
                element, f"unknown label {shown(value)} (the labels are {', '.join(labels)})"
            )
        return labels[value]


class _LinedTree(ContentHandler):
    """Builds elements with their line number as an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = TreeBuilder()
        self.locator = Locator()

    def setDocumentLocator(self, locator) -> None:
        self.locator = locator

    def startElement(self, name, attrs) -> None:
        self.builder.start(name, {**attrs, _LINE: str(self.locator.getLineNumber())})

    def endElement(self, name) -> None:
        self.builder.end(name)

    def characters(self, content) -> None:
        self.builder.data(content)

    def skippedEntity(self, name) -> None:
        raise SAXException(f"the entity {name} is not declared")


def _parse(path: str | Path) -> Element:
    tree = _LinedTree()
    try:
        # The released files have a DTD. It is harmless as long as it declares no entity.
        parseString(Path(path).read_bytes(), tree)
    except (SAXException, ValueError, LookupError) as error:  # ValueError and LookupError: encoding
        cause = error.getMessage() if isinstance(error, SAXException) else error
        line = tree.locator.getLineNumber()
        raise AnalogyQAError(
            f"{path}, line {line}: malformed XML ({cause}). Fetch the file again."
        ) from error
    return tree.builder.close()
