"""Objects of declared sizes from a web server, nginx or Apache, over HTTP/1.1."""

from crosswind.app.web.application import Web, WebParameters

__all__ = ["Web", "WebParameters"]
