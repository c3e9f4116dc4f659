import type { Plugin } from '../framework.ts';

/** Binds a pod by a Binding that names the node. */
export const defaultBinder: Plugin = {
  name: 'DefaultBinder',
  bind({ pod: { metadata } }, { name: node }) {
    const { name, namespace = '', uid } = metadata;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name, namespace, uid },
      target: { kind: 'Node', name: node },
    };
    return { subresource: 'binding', body };
  },
};
