/* A folder for files that nobody is to find afterwards. */
#pragma once

/* Makes one below TMPDIR, or /tmp; its path, or NULL with errno set. Give it back to
   rck_temporary_remove(). */
char *rck_temporary_make(void);
/* Removes the folder and all in it (links are not followed), and frees the path. NULL is
   fine. errno is kept. */
void rck_temporary_remove(char *dir);
