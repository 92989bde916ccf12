"""What every HTTP server of ours has, whatever it serves: certificates that are renewed while it runs.

It knows neither the service nor the web pages.
"""
