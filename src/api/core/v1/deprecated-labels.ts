/** Deprecated labels of Nodes that have newer names: clients that select by the old names get a warning. */

const deprecated: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods':
    'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};

/** Returns the advice about a label; undefined for a label that is not deprecated. */
export const deprecationOf = (label: string): string | undefined =>
  Object.hasOwn(deprecated, label) ? deprecated[label] : undefined;

/** Returns warnings for a list of expressions; `path` is the list's. */
export function expressionWarnings(
  expressions: readonly { readonly key: string }[] | undefined,
  path: string,
): string[] {
  return (expressions ?? []).flatMap(({ key }, index) => {
    const why = deprecationOf(key);
    return why === undefined ? [] : [`${path}[${index}].key: ${key} is ${why}`];
  });
}

/** Newer names of labels: a selector by the new name selects the same Nodes. */
export const newerLabels: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};
