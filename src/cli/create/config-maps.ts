/** `ctl create configmap`. */
import { isUtf8 } from 'node:buffer';
import { UsageError } from '../../base/usage-error.ts';
import { type Generator, newMetadata } from './generator.ts';
import { contentHash, entriesOf, hashFlag, sourceFlags } from './sources.ts';

const configMapGenerator: Generator = {
  about: 'create a ConfigMap from files, directories or literal values',
  resource: 'configmaps',
  flags: { ...sourceFlags, ...hashFlag },
  examples: [
    'configmap settings --from-literal=color=blue --from-file=app.conf # take a value and a file',
    'configmap settings --from-env-file=app.env # take the lines of a file',
  ],
  make(given) {
    const { name, flags } = given;
    if (flags.given('from-env-file') && (flags.given('from-file') || flags.given('from-literal')))
      throw new UsageError('from-env-file cannot be combined with from-file or from-literal');
    const entries = [...entriesOf(given, 'ConfigMap')].sort(([a], [b]) => (a < b ? -1 : 1));
    const texts = entries.filter(([, value]) => isUtf8(value));
    const binaries = entries.filter(([, value]) => !isUtf8(value));
    const data = Object.fromEntries(texts.map(([key, value]) => [key, Buffer.from(value).toString()]));
    const binaryData = Object.fromEntries(binaries.map(([key, value]) => [key, base64(value)]));
    const hashed = { ...(binaries.length > 0 && { binaryData }), data, kind: 'ConfigMap', name };
    return {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: newMetadata(flags.on('append-hash') ? `${name}-${contentHash(hashed)}` : name),
      ...(texts.length > 0 && { data }),
      ...(binaries.length > 0 && { binaryData }),
    };
  },
};

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

export const configMapGenerators: Readonly<Record<string, Generator>> = {
  configmap: configMapGenerator,
  cm: configMapGenerator,
};
