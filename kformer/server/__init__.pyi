from .application import RequestLimits, create_app
from .hosted_models import HostedModel, host

__all__ = ["HostedModel", "RequestLimits", "create_app", "host"]
