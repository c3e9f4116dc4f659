import {
  type Check,
  containers,
  containersOf,
  exceptWindows,
  namesWhere,
  type PodLike,
  type PolicyCheck,
  quoted,
  sorted,
} from '../check.ts';

const allowedByBaseline = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
]);
const allowedByRestricted = new Set(['NET_BIND_SERVICE']);

type AnyContainer = ReturnType<typeof containersOf>[number];
const addedBy = ({ securityContext }: AnyContainer) => securityContext?.capabilities?.add ?? [];

/** Returns '' if no other capabilities are added. */
function otherAdditions(pod: PodLike, allowed: ReadonlySet<string>): string {
  const isOther = (name: string) => !allowed.has(name);
  const bad = namesWhere(pod, (container) => addedBy(container).some(isOther));
  if (bad.length === 0) return '';
  const names = sorted(containersOf(pod).flatMap(addedBy).filter(isOther));
  return `${containers(bad)} must not include ${quoted(names)} in securityContext.capabilities.add`;
}

const checkBaseline: Check = (pod) => {
  const detail = otherAdditions(pod, allowedByBaseline);
  return detail === '' ? undefined : { reason: 'non-default capabilities', detail };
};

const checkRestricted: Check = (pod) => {
  const keeping = namesWhere(
    pod,
    ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'),
  );
  const must = `${containers(keeping)} must set securityContext.capabilities.drop=["ALL"]`;
  const details = [keeping.length > 0 ? must : '', otherAdditions(pod, allowedByRestricted)];
  const detail = details.filter(Boolean).join('; ');
  return detail === '' ? undefined : { reason: 'unrestricted capabilities', detail };
};

export const capabilitiesBaseline: PolicyCheck = {
  id: 'capabilities_baseline',
  level: 'baseline',
  versions: [{ since: 0, check: checkBaseline }],
};

const replaces = [capabilitiesBaseline.id];

export const capabilitiesRestricted: PolicyCheck = {
  id: 'capabilities_restricted',
  level: 'restricted',
  versions: [
    { since: 22, check: checkRestricted, replaces },
    { since: 25, check: exceptWindows(checkRestricted), replaces },
  ],
};
