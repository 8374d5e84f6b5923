"""What commands read and leave: settings, logs, tables, plots, and the folder of a job."""
