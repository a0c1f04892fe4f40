"""The parameters of `web`, and the configurations that its servers get."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from crosswind.app.web import Web, WebParameters
from crosswind.app.web.apache import Apache
from crosswind.app.web.nginx import Nginx
from crosswind.app.web.server import Site

SITE = Site("10.77.0.1", Path("/srv/site"), connections=100)


def test_the_variant_says_what_has_to_be_installed() -> None:
    assert Web(WebParameters.model_validate({"duration": "1s"})).variant == "nginx"
    asked = {"duration": "1s", "server": "apache", "client": "vegeta"}
    assert Web(WebParameters.model_validate(asked)).variant in Web.variants


@pytest.mark.parametrize("objects", [[], ["1000"], ["0B"]])
def test_objects_have_sizes_with_units(objects: list[str]) -> None:
    with pytest.raises(ValidationError):
        WebParameters.model_validate({"duration": "1s", "objects": objects})


def test_vegeta_is_not_asked_for_arrivals_that_it_does_not_have() -> None:
    asked = {"duration": "1s", "rate": "100/s", "arrivals": "poisson"}
    assert WebParameters.model_validate(asked).arrivals == "poisson"
    with pytest.raises(ValidationError, match="is not possible with vegeta"):
        WebParameters.model_validate(asked | {"client": "vegeta"})


def test_nginx_can_serve_all_connections_from_one_worker() -> None:
    text = Nginx().configuration(SITE)
    assert "worker_connections 164;" in text
    assert "listen 10.77.0.1:8080" in text
    assert "root /srv/site/objects;" in text


def test_apache_has_a_thread_for_every_connection_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(Apache.packages), "root", Path("/unpacked"))
    monkeypatch.setattr(type(Apache.packages), "env", {"LD_LIBRARY_PATH": "/unpacked/lib"})
    text = Apache().configuration(SITE)
    # 100 connections take two processes of 64 threads.
    assert "StartServers 2" in text
    assert "ServerLimit 2" in text
    assert "MaxRequestWorkers 128" in text
    assert "MaxSpareThreads 128" in text
    # Variables are translated for a machine to which the packages are copied; the text of a file is not.
    assert '"${MODULES}/mod_mpm_event.so"' in text
    assert Apache().env == {
        "LD_LIBRARY_PATH": "/unpacked/lib",
        "MODULES": "/unpacked/usr/lib/apache2/modules",
    }
