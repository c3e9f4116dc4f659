/** Writes docs/causes.md from the rules of `ctl why` (`npm run docs:causes`). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { causesPage } from './causes-page.ts';

writeFileSync(join(import.meta.dirname, '../../docs/causes.md'), causesPage());
