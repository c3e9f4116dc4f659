import {
  type Check,
  containers,
  containersOf,
  exceptWindows,
  namesWhere,
  type PodLike,
  type PolicyCheck,
  plural,
  quoted,
  settersOf,
  sorted,
  valuesOf,
} from '../check.ts';

const reason = 'seccompProfile';
const podAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
const containerAnnotation = 'container.seccomp.security.alpha.kubernetes.io/';

const isForbiddenValue = (value: string) =>
  value !== 'runtime/default' && value !== 'docker/default' && !value.startsWith('localhost/');

/** Checks the annotations, which had the profile before 1.19; the fields were not checked then. */
const checkAnnotations: Check = (pod) => {
  const { annotations = {} } = pod.metadata ?? {};
  const keys = [podAnnotation, ...containersOf(pod).map(({ name }) => `${containerAnnotation}${name}`)];
  const bad = sorted(
    keys.flatMap((key) => {
      const value = annotations[key];
      return value !== undefined && isForbiddenValue(value) ? [`${key}=${JSON.stringify(value)}`] : [];
    }),
  );
  if (bad.length === 0) return undefined;
  return { reason, detail: `forbidden ${plural(bad.length, 'annotation')} ${bad.join(', ')}` };
};

const isForbidden = (type: string | undefined) =>
  type !== undefined && type !== 'RuntimeDefault' && type !== 'Localhost';

/** Returns '' if no forbidden profile is requested. */
function forbiddenTypes(pod: PodLike): string {
  const setters = settersOf(pod, ({ seccompProfile }) => isForbidden(seccompProfile?.type));
  if (setters === '') return '';
  const types = valuesOf(pod, ({ seccompProfile }) => seccompProfile?.type).filter(isForbidden);
  return `${setters} must not set securityContext.seccompProfile.type to ${quoted(types)}`;
}

const checkFields: Check = (pod) => {
  const detail = forbiddenTypes(pod);
  return detail === '' ? undefined : { reason, detail };
};

const checkRestricted: Check = (pod) => {
  const detail = forbiddenTypes(pod);
  if (detail !== '') return { reason, detail };
  if (pod.spec.securityContext?.seccompProfile) return undefined;
  const silent = namesWhere(pod, ({ securityContext }) => !securityContext?.seccompProfile);
  if (silent.length === 0) return undefined;
  const must = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"';
  return { reason, detail: `pod or ${containers(silent)} ${must}` };
};

export const seccompBaseline: PolicyCheck = {
  id: 'seccompProfile_baseline',
  level: 'baseline',
  versions: [
    { since: 0, check: checkAnnotations },
    { since: 19, check: checkFields },
  ],
};

const replaces = [seccompBaseline.id];

export const seccompRestricted: PolicyCheck = {
  id: 'seccompProfile_restricted',
  level: 'restricted',
  versions: [
    { since: 19, check: checkRestricted, replaces },
    { since: 25, check: exceptWindows(checkRestricted), replaces },
  ],
};
