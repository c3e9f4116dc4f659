import { type Check, type PodLike, type PolicyCheck, plural, quoted, settersOf, valuesOf } from '../check.ts';

const annotationPrefix = 'container.apparmor.security.beta.kubernetes.io/';

const isForbidden = (type: string | undefined) =>
  type !== undefined && type !== 'RuntimeDefault' && type !== 'Localhost';

const isForbiddenValue = (value: string) =>
  value !== '' && value !== 'runtime/default' && !value.startsWith('localhost/');

/**
 * Returns forbidden annotations, the older way to request a profile, including those for containers that the
 * pod does not have.
 */
const forbiddenAnnotations = ({ metadata }: PodLike) =>
  Object.entries(metadata?.annotations ?? {})
    .filter(([key, value]) => key.startsWith(annotationPrefix) && isForbiddenValue(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();

const check: Check = (pod) => {
  const setters = settersOf(pod, ({ appArmorProfile }) => isForbidden(appArmorProfile?.type));
  const types = valuesOf(pod, ({ appArmorProfile }) => appArmorProfile?.type).filter(isForbidden);
  const annotations = forbiddenAnnotations(pod);
  const values = [...types, ...annotations];
  if (values.length === 0) return undefined;
  const who = [
    ...(setters === '' ? [] : [setters]),
    ...(annotations.length === 0 ? [] : [plural(annotations.length, 'annotation')]),
  ];
  return {
    reason: plural(values.length, 'forbidden AppArmor profile'),
    detail: `${who.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

export const appArmorProfile: PolicyCheck = {
  id: 'appArmorProfile',
  level: 'baseline',
  versions: [{ since: 0, check }],
};
