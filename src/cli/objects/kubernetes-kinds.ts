/**
 * Kinds of newer versions of Kubernetes that minik8s does not serve, for a better message than that of an
 * unknown word.
 */

/** Kinds by group: the plural, the kind and the short names. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  'resource.k8s.io': [
    'deviceclasses DeviceClass',
    'resourceclaims ResourceClaim',
    'resourceclaimtemplates ResourceClaimTemplate',
    'resourceslices ResourceSlice',
  ],
};

const all = Object.entries(kinds).flatMap(([group, lines]) =>
  lines.map((line) => {
    const [plural = '', kind = '', ...shortNames] = line.split(' ');
    return { group, plural, kind, names: [plural, kind.toLowerCase(), ...shortNames] };
  }),
);

/**
 * Returns the message for a kind that minik8s does not serve; undefined if the word is none of them, or is
 * not in this group.
 */
export function notServedResource(word: string, qualifier: string): string | undefined {
  const found = all.find(
    ({ group, names }) =>
      names.includes(word) && (!qualifier || qualifier === group || qualifier.endsWith(`.${group}`)),
  );
  return found && `${found.plural} are known to Kubernetes, not served by minik8s`;
}

/** Returns the message for the kind of a manifest, whose group may be missing. */
export function notServedKind(apiVersion: string, kind: string): string | undefined {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const found = all.find((one) => one.kind === kind && (apiVersion === '' || one.group === group));
  return found && `${kind} is known to Kubernetes, not served by minik8s`;
}
