/** `ctl create namespace`. */
import { type Generator, newMetadata } from './generator.ts';

const namespaceGenerator: Generator = {
  about: 'create a Namespace',
  resource: 'namespaces',
  clusterWide: true,
  flags: {},
  examples: ['namespace shop # create a namespace'],
  make: ({ name }) => ({
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: newMetadata(name),
    spec: {},
    status: {},
  }),
};

export const namespaceGenerators: Readonly<Record<string, Generator>> = {
  namespace: namespaceGenerator,
  ns: namespaceGenerator,
};
