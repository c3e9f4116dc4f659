/** Node's binaries, which are npm packages of the same version for each architecture. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Architecture } from './architecture.ts';

/**
 * Directory of the binaries for other architectures than this machine's: npm installs none of them, so
 * config/release/fetch-node.ts does.
 */
export const foreignNode = (root: string, arch: Architecture): string =>
  join(root, 'node_modules/.cache/release', `node-linux-${arch}`);

/** Returns the path of Node's binary. Throws if it has not been installed. */
export function nodeProgram(root: string, arch: Architecture): string {
  if (arch === process.arch)
    return createRequire(join(root, 'package.json')).resolve(`node-linux-${arch}/bin/node`);
  const path = join(foreignNode(root, arch), 'bin/node');
  if (!existsSync(path)) throw new Error(`${path} is missing; npm run release fetches it`);
  return path;
}
