"""The XML of SemEval's community question answering, as elements that know their lines."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.sax import SAXException
from xml.sax.handler import ContentHandler

from defusedxml.sax import parseString

from analogyqa.corpora.table import clean_id
from analogyqa.errors import AnalogyQAError, shown
from analogyqa.text import nfc

_LINE = "#line"  # no attribute of XML has such a name


class Release:
    """One file of a release; every error names the file and the line."""

    def __init__(self, path: str | Path) -> None:
        """Parse a file; raises AnalogyQAError when it is not well-formed or declares an entity."""
        self.path, self._root = path, _parse(path)

    def iter(self, tag: str) -> Iterator[Element]:
        """Yield the elements of a tag, in the order of the file."""
        return self._root.iter(tag)

    def line(self, element: Element) -> int:
        return int(element.attrib[_LINE])

    def fail(self, element: Element, cause: str) -> AnalogyQAError:
        """Return the error that an element is wrong."""
        return AnalogyQAError(f"{self.path}, line {self.line(element)}: {cause}")

    def attribute(self, element: Element, name: str) -> str:
        if name not in element.attrib:
            raise self.fail(element, f"a {element.tag} without {name}. Fetch the file again.")
        return element.attrib[name]

    def id(self, element: Element, name: str) -> str:
        """Return an attribute that is an id, as `clean_id` does."""
        return clean_id(self.attribute(element, name))

    def text(self, element: Element, *names: str) -> str:
        """Return the text of parts, one of each name, with single spaces and in NFC."""
        parts = [element.findall(name) for name in names]
        for name, found in zip(names, parts, strict=True):
            if len(found) != 1:
                cause = f"a {element.tag} with {len(found)} {name}; it must have one"
                raise self.fail(element, cause)
        return nfc(" ".join(" ".join("".join(part.itertext()) for [part] in parts).split()))

    def label(self, element: Element, name: str, labels: dict[str, int]) -> int:
        """Return what an attribute stands for among `labels`."""
        found = self.attribute(element, name)
        if found not in labels:
            cause = f"label {shown(found)}; take a file with the labels {', '.join(labels)}"
            raise self.fail(element, cause)
        return labels[found]


class _LinedTree(ContentHandler):
    """Builds elements that know their lines."""

    def __init__(self) -> None:
        super().__init__()
        self.builder = TreeBuilder()
        self.characters, self.endElement = self.builder.data, self.builder.end

    def startElement(self, name, attrs) -> None:
        self.builder.start(name, {**attrs, _LINE: str(self._locator.getLineNumber())})

    def skippedEntity(self, name) -> None:
        raise SAXException(f"the entity {name} is not declared")


def _parse(path: str | Path) -> Element:
    tree = _LinedTree()
    try:
        # The released files have a DTD, which is harmless as long as it declares no entity.
        parseString(Path(path).read_bytes(), tree)
    except (SAXException, ValueError, LookupError) as error:  # the last two: entities, encodings
        cause = error.getMessage() if isinstance(error, SAXException) else error
        line = tree._locator.getLineNumber()
        raise AnalogyQAError(
            f"{path}, line {line}: not the XML of a release ({cause}). Fetch the file again."
        ) from error
    return tree.builder.close()
