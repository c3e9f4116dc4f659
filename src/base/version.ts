/**
 * The version of this build, such as `0.1.0` or `0.1.0+g1a2b3c4`; inserted at build time, read from
 * package.json in development.
 */
import { readFileSync } from 'node:fs';

declare const MINIK8S_VERSION: string | undefined;

export function version(): string {
  if (typeof MINIK8S_VERSION === 'string') return MINIK8S_VERSION;
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const found = (manifest as { readonly version?: unknown }).version;
  if (typeof found !== 'string') throw new Error('package.json: version: expected a string');
  return `${found}+development`;
}
