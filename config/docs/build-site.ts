/** Builds the documentation site under dist/docs (`npm run docs`). Fails if a link leads nowhere. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { siteParts, thisRepository } from './repository.ts';
import { siteOf } from './site.ts';

const target = join(import.meta.dirname, '../../dist/docs');
const { outputs, broken } = siteOf(thisRepository(), siteParts());
if (broken.length > 0) {
  console.error(`links that lead nowhere:\n${broken.join('\n')}`);
  process.exitCode = 1;
} else {
  rmSync(target, { recursive: true, force: true });
  for (const [path, content] of outputs) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), content);
  }
  console.log(`dist/docs: ${outputs.size} files; open dist/docs/index.html`);
}
