/** The choice among the containers of a pod that run. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { textAt } from '../../../apimachinery/fields.ts';
import { containersOf } from '../../../why/pod-facts.ts';
import type { TabProps } from './tab.ts';

interface Props extends Pick<TabProps, 'object'> {
  /** Returns the content for the chosen container. */
  readonly children: (container: string) => ComponentChildren;
}

export function ContainerChoice({ object, children }: Props) {
  const containers = containersOf(object as TabProps['object'] & JsonObject).filter(
    ({ status }) => textAt(status, 'state', 'running', 'startedAt') !== '',
  );
  const chosen = useSignal(containers[0]?.name ?? '');
  if (containers.length === 0) return <p class="empty">No container of the pod runs.</p>;
  const container = containers.some((one) => one.name === chosen.value)
    ? chosen.value
    : (containers[0]?.name ?? '');
  return (
    <>
      {containers.length > 1 && (
        <label class="scope container-choice">
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
      {children(container)}
    </>
  );
}
