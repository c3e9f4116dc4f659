/** A terminal in a container of a pod. */
import { useSignal } from '@preact/signals';
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { textAt } from '../../../apimachinery/fields.ts';
import { containersOf } from '../../../why/pod-facts.ts';
import { lazy } from '../shell/lazy.tsx';
import type { TabProps } from './tab.ts';

const Terminal = lazy(async () => (await import('../terminal/terminal.tsx')).Terminal);

export function TerminalTab({ object }: TabProps) {
  const { name, namespace = '' } = object.metadata;
  const containers = containersOf(object as TabProps['object'] & JsonObject).filter(
    ({ status }) => textAt(status, 'state', 'running', 'startedAt') !== '',
  );
  const chosen = useSignal(containers[0]?.name ?? '');
  if (containers.length === 0) return <p class="empty">No container of the pod runs.</p>;
  const container = containers.some((one) => one.name === chosen.value)
    ? chosen.value
    : (containers[0]?.name ?? '');
  return (
    <section aria-label="Terminal">
      {containers.length > 1 && (
        <label class="scope">
          Container
          <select
            value={container}
            onChange={(event) => {
              chosen.value = event.currentTarget.value;
            }}
          >
            {containers.map((one) => (
              <option key={one.name} value={one.name}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <Terminal key={container} namespace={namespace} pod={name} container={container} />
    </section>
  );
}
