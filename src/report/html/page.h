/* The parts of the findings page, embedded when the program is built (embed.py). */
#pragma once

extern const char rck_page_css[], rck_page_js[], rck_page_html[];
