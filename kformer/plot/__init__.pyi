from .attention_page import attention_page
from .attention_plot import plot_attention
from .curve_plots import plot_confusion, plot_positions, plot_schedules
from .figures import check_picture, save_figure
from .history_plot import plot_history

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
