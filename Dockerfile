# An image in which everything is installed. It runs the demo:
#
#     docker build --tag analogyqa .
#     docker run --rm --volume "$PWD/results:/analogyqa/results" analogyqa
FROM python:3.12-slim-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends git gcc g++ make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /analogyqa
# The environment comes first, so that an edited file does not install it again.
COPY Makefile pyproject.toml requirements.lock README.md LICENSE ./
COPY envs envs
RUN make environment PYTHON=python3.12 && rm -rf /root/.cache/pip
COPY . .

ENV PATH="/analogyqa/.venv/bin:$PATH"
CMD ["make", "demo"]
