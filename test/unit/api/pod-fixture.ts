/** A valid pod, and patches of it for tables of accepted and rejected pods. */

export const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
};

/** Returns a patch of the first container. */
export const container = (fields: object) => ({
  spec: { containers: [{ name: 'web', image: 'nginx:1.27', ...fields }] },
});

export const spec = (fields: object) => ({ spec: fields });

/** Path of the first container. */
export const c0 = 'spec.containers[0]';
