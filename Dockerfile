# Exhibit. Two stages: what is built needs tools, what runs has none. Both locks are checked by hash.
FROM docker.io/library/python:3.11-slim-bookworm AS build
WORKDIR /build
COPY requirements-uv.lock ./
RUN python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements-uv.lock
COPY requirements.lock ./
RUN python -m venv /opt/exhibit \
 && uv pip install --no-cache --compile-bytecode --python /opt/exhibit/bin/python --require-hashes -r requirements.lock
COPY . .
RUN uv pip install --no-cache --python /opt/exhibit/bin/python --no-deps .

FROM docker.io/library/python:3.11-slim-bookworm
RUN useradd --uid 10001 --user-group --home-dir /data --shell /usr/sbin/nologin exhibit \
 && install -d -o exhibit -g exhibit -m 0700 /data
COPY --from=build /opt/exhibit /opt/exhibit
ENV PATH=/opt/exhibit/bin:$PATH EXHIBIT_HOME=/data PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8484
# Beyond loopback only with an API key: make one first, docs/operations.md.
ENTRYPOINT ["exhibit"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8484"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8484/livez', timeout=4)"]
