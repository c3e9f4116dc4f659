import type { SELinuxOptions } from '../../../api/core/v1/types.gen.ts';
import { type Check, type PolicyCheck, plural, quoted, settersOf, valuesOf } from '../check.ts';

const since0 = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t']);
const since31 = new Set([...since0, 'container_engine_t']);

const checkWith =
  (types: ReadonlySet<string>): Check =>
  (pod) => {
    const isBad = ({ type = '', user, role }: SELinuxOptions) => !types.has(type) || Boolean(user || role);
    const setters = settersOf(pod, ({ seLinuxOptions }) => Boolean(seLinuxOptions && isBad(seLinuxOptions)));
    if (setters === '') return undefined;
    const badTypes = valuesOf(pod, ({ seLinuxOptions }) => seLinuxOptions?.type).filter(
      (type) => !types.has(type),
    );
    const isSet = (field: 'user' | 'role') =>
      valuesOf(pod, ({ seLinuxOptions }) => seLinuxOptions?.[field] || undefined).length > 0;
    const what = [
      ...(badTypes.length === 0 ? [] : [`${plural(badTypes.length, 'type')} ${quoted(badTypes)}`]),
      ...(['user', 'role'] as const).filter(isSet).map((field) => `${field} may not be set`),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    };
  };

export const seLinuxOptions: PolicyCheck = {
  id: 'seLinuxOptions',
  level: 'baseline',
  versions: [
    { since: 0, check: checkWith(since0) },
    { since: 31, check: checkWith(since31) },
  ],
};
