/** The state of a rollout in a sentence, and as a bar of its pods. */
import type { RolloutView } from './plan/rollout-view.ts';

const healths = { waiting: 'waiting', done: 'good', failed: 'bad' } as const;
const order = ['good', 'waiting', 'bad', 'ending', 'done'] as const;
const words = { good: 'ready', waiting: 'starting', bad: 'failing', ending: 'ending', done: 'done' } as const;

export function Progress({ view }: { readonly view: RolloutView }) {
  const { state, isPaused, replicas } = view;
  return (
    <div class="rollout-state">
      <p>
        <span class={`chip ${isPaused ? 'waiting' : healths[state.outcome]}`}>
          {isPaused ? 'paused' : { waiting: 'rolling out', done: 'complete', failed: 'stuck' }[state.outcome]}
        </span>{' '}
        <span role="status">{isPaused ? 'Changes have no effect until it is resumed.' : state.message}</span>
      </p>
      <Bar view={view} />
      <p class="faint">
        {replicas.wanted} wanted, {replicas.updated} of the present revision, {replicas.ready} ready
      </p>
    </div>
  );
}

/** The pods as a bar: those of the current revision first, then the older ones in stripes. */
export function Bar({ view: { revisions, replicas } }: { readonly view: RolloutView }) {
  const parts = revisions.flatMap(({ isPresent, pods }) =>
    order.map((health) => ({ health, isPresent, count: pods.filter((pod) => pod.health === health).length })),
  );
  const missing = Math.max(0, replicas.wanted - revisions.flatMap(({ pods }) => pods).length);
  const shown = parts.filter(({ count }) => count > 0);
  const label = shown.map(
    ({ health, isPresent, count }) => `${count} ${isPresent ? 'new' : 'old'} ${words[health]}`,
  );
  return (
    <div class="rollout-bar" role="img" aria-label={label.join(', ') || 'no pods'}>
      {shown.map(({ health, isPresent, count }) => (
        <span
          key={`${health} ${isPresent}`}
          class={`${health} ${isPresent ? '' : 'old'}`}
          style={{ flexGrow: count }}
          title={`${count} ${isPresent ? 'new' : 'old'} ${words[health]}`}
        />
      ))}
      {missing > 0 && <span class="missing" style={{ flexGrow: missing }} title={`${missing} missing`} />}
    </div>
  );
}
