/**
 * `node config/monitoring/generate.ts`: writes the generated files. Run it after a change of one of their
 * sources.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generated, monitoringDirectory } from './generated.ts';

for (const [path, text] of await generated()) await writeFile(join(monitoringDirectory, path), text);
