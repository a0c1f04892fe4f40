"""A project of a cloud: the connection to it, and what it has by these names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from crosswind.testbed.errors import NotHere, TestbedError
from crosswind.text.nearest import did_you_mean

if TYPE_CHECKING:
    from openstack.compute.v2.flavor import Flavor
    from openstack.connection import Connection
    from openstack.image.v1.image import Image as FirstImage
    from openstack.image.v2.image import Image
    from openstack.network.v2.network import Network

_NAMES_SHOWN = 10


class Project:
    """One project, as the credentials of a cloud in clouds.yaml reach it.

    Args:
        cloud: None: what the environment names.

    Raises: NotHere: openstacksdk is missing, there is no such cloud, or it refuses the credentials.
    """

    def __init__(self, cloud: str | None) -> None:
        self.title = "the cloud of the environment" if cloud is None else f"cloud {cloud}"
        try:
            import openstack
        except ModuleNotFoundError:
            raise NotHere(
                "testbed.openstack: the Python package openstacksdk is missing; install it with: pip install "
                '"crosswind[openstack]"'
            ) from None
        with self.explained("it was not reached"):
            self.connection: Connection = openstack.connect(cloud=cloud, app_name="crosswind")
            self.id: str = self.connection.current_project_id or ""

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Turn an error of the cloud into one sentence that says what failed."""
        from keystoneauth1.exceptions import ClientException
        from openstack.exceptions import ConfigException, HttpException, SDKException

        try:
            yield
        except ConfigException as error:
            raise NotHere(
                f"testbed.openstack: {self.title}: {what}: {_one_line(error)}; write the name of a cloud in "
                "clouds.yaml, or set the variables OS_*"
            ) from error
        except HttpException as error:
            said = _one_line(error.details or error)
            raise TestbedError(f"testbed.openstack: {self.title}: {what}: {said}") from error
        except (SDKException, ClientException) as error:
            raise NotHere(f"testbed.openstack: {self.title}: {what}: {_one_line(error)}") from error

    def flavor(self, name: str) -> Flavor:
        """Return a flavour by its name or id.

        Raises: NotHere: there is none; the message names those that are.
        """
        with self.explained(f"flavor {name}"):
            found = self.connection.compute.find_flavor(name, ignore_missing=True)
            known = [] if found else [each.name for each in self.connection.compute.flavors()]
        if found is None:
            raise self._unknown("flavor", name, known)
        return found

    def image(self, name: str) -> Image | FirstImage:
        """Return an image; as `flavor`."""
        with self.explained(f"image {name}"):
            found = self.connection.image.find_image(name, ignore_missing=True)
            known = [] if found else [each.name for each in self.connection.image.images()]
        if found is None:
            raise self._unknown("image", name, known)
        return found

    def network(self, name: str, *, external: bool = False) -> Network:
        """Return a network; as `flavor`."""
        key = "external" if external else "network"
        with self.explained(f"network {name}"):
            networks = self.connection.network
            found = networks.find_network(name, ignore_missing=True)
            known = [] if found else [each.name for each in networks.networks()]
        if found is None:
            raise self._unknown("network", name, known)
        if external and not found.is_router_external:
            raise NotHere(
                f"testbed.openstack.{key}: network {name} of {self.title} is not external; name one that "
                "`openstack network list --external` lists"
            )
        return found

    def _unknown(self, kind: str, name: str, known: Iterable[str | None]) -> NotHere:
        names = sorted(each for each in known if each)
        remedy = did_you_mean(name, names) or (
            f"it has {', '.join(names[:_NAMES_SHOWN])}" if names else "it has none"
        )
        return NotHere(f'testbed.openstack: {self.title} has no {kind} "{name}"; {remedy}')


def _one_line(error: object) -> str:
    return " ".join(str(error).split())
