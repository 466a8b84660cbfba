from .application import RequestLimits, create_app
from .hosted_files import host
from .hosted_models import HostedModel

__all__ = ["HostedModel", "RequestLimits", "create_app", "host"]
