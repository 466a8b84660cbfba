from .attention import plot_attention
from .attention_page import attention_page
from .confusion import plot_confusion
from .figures import check_picture, save_figure
from .history import plot_history
from .positions import plot_positions
from .schedules import plot_schedules

__all__ = [
    "attention_page",
    "check_picture",
    "plot_attention",
    "plot_confusion",
    "plot_history",
    "plot_positions",
    "plot_schedules",
    "save_figure",
]
