/** The ports of a Pod or a Service, with the commands that make them reachable for the browser. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { fieldsOf } from '../actions/patch-object.ts';
import { may } from '../cluster/access.ts';
import { kindsByKey } from '../cluster/kinds.ts';
import type { ApiKind } from '../cluster/plan/discovery.ts';
import { CopyLine } from '../shell/copy-line.tsx';
import { portForwards } from './plan/port-forwards.ts';

interface Props {
  readonly kind: ApiKind;
  readonly object: KubeObject;
}

export function PortCommands({ kind, object }: Props) {
  if (!mayForward(kind, object)) return null;
  const forwards = portForwards(kind.key === 'pods' ? 'Pod' : 'Service', fieldsOf(kind, object));
  if (forwards.length === 0) return null;
  return (
    <section class="panel" aria-label="Ports">
      <h2>Ports</h2>
      <p class="faint">Run the command of a port on this machine, and open its address while it runs:</p>
      <ul class="port-commands">
        {forwards.map(({ title, command, address }) => (
          <li key={title}>
            <strong>{title}</strong>
            <CopyLine text={command} />
            {address !== undefined && (
              <a href={address} target="_blank" rel="noopener noreferrer">
                {address}
              </a>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Returns whether the user may forward ports; for those of a Service, the command reads its pods too. */
function mayForward(kind: ApiKind, { metadata: { namespace, name } }: KubeObject): boolean {
  const pods = kindsByKey.value.get('pods');
  if (!pods || (kind.key !== 'pods' && kind.key !== 'services')) return false;
  const own = kind.key === 'pods' ? { name } : {};
  return (
    may('create', pods, namespace, { ...own, subresource: 'portforward' }) &&
    (kind.key === 'pods' || may('list', pods, namespace))
  );
}
