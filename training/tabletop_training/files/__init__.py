"""What commands read and write: settings, logs, tables, plots, and the folder of a job."""
