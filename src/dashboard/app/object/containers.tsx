import type { JsonObject } from '../../../apimachinery/equality.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { ScrollRegion } from '../shell/scroll-region.tsx';
import { type ContainerFacts, containersOf } from './plan/containers.ts';

/** The containers of a pod, or of the pods that a workload creates. */
export function Containers({ object }: { readonly object: KubeObject }) {
  const containers = containersOf(object as unknown as JsonObject);
  if (containers.length === 0) return null;
  const hasStates = containers.some(({ state }) => state !== '');
  return (
    <section class="panel" aria-label="Containers">
      <h2>Containers</h2>
      <ScrollRegion label="Table of containers">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              {hasStates && <th scope="col">State</th>}
              {hasStates && <th scope="col">Restarts</th>}
              <th scope="col">Image</th>
              <th scope="col">CPU</th>
              <th scope="col">Memory</th>
              <th scope="col">Ports</th>
            </tr>
          </thead>
          <tbody>
            {containers.map((container) => (
              <Line key={container.name} container={container} hasStates={hasStates} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  );
}

function Line({ container, hasStates }: { readonly container: ContainerFacts; readonly hasStates: boolean }) {
  const { name, role, image, state, detail, health, restarts, ports, cpu, memory } = container;
  return (
    <tr>
      <td>
        {name} {role !== 'container' && <span class="chip">{role}</span>}
      </td>
      {hasStates && (
        <td>
          <span class={`chip ${health ?? ''}`}>{state || 'not started'}</span>
          {detail !== '' && <div class="faint">{detail}</div>}
        </td>
      )}
      {hasStates && <td>{restarts ?? ''}</td>}
      <td class="mono">{image}</td>
      <td class="nowrap">{cpu || '–'}</td>
      <td class="nowrap">{memory || '–'}</td>
      <td>{ports.join(', ') || '–'}</td>
    </tr>
  );
}
