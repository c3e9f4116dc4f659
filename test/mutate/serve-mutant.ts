/**
 * Loaded before a test: gives a changed text for one file of the source, and leaves the file itself as it is. It goes
 * with the environment, so the threads and processes that a test starts have it too.
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
