from .application import Limits, create_app
from .hosted_models import HostedModel, host

__all__ = ["HostedModel", "Limits", "create_app", "host"]
