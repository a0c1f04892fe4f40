"""The tags of a page, for tests that ask what is in it."""

import html.parser


class Outline(html.parser.HTMLParser):
    """Collects tags with their attributes; text of scripts and styles is left out by the parser."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def of(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]
