/** `ctl create namespace`. */
import type { Generator } from './generator.ts';

const namespaceGenerator: Generator = {
  about: 'create a Namespace: namespace NAME',
  resource: 'namespaces',
  flags: {},
  make: ({ name }) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
};

export const namespaceGenerators: Readonly<Record<string, Generator>> = {
  namespace: namespaceGenerator,
  ns: namespaceGenerator,
};
