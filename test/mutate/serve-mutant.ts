/**
 * Preloaded module of a test process: serves a changed text for one file of the source, and leaves the file
 * itself unchanged. The environment holds the setting, so that threads and processes of a test have it too.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const { MUTANT_URL, MUTANT_TEXT } = process.env;
if (MUTANT_URL !== undefined && MUTANT_TEXT !== undefined) {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      return url === MUTANT_URL ? { ...loaded, source: readFileSync(MUTANT_TEXT, 'utf8') } : loaded;
    },
  });
}
