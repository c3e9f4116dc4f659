/** The calls of a function since the start of the master that answers. */
import { textAt } from '../../../../apimachinery/fields.ts';
import { functionCalls, secondsText } from '../../../../views/function-calls.ts';
import { serverMetrics } from '../../charts/sampler.ts';

export function CallNumbers({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const { items, refused, atMs } = serverMetrics.value;
  if (refused || atMs === 0) return null;
  const own = items.filter(
    (sample) =>
      textAt(sample, 'labels', 'namespace') === namespace && textAt(sample, 'labels', 'function') === name,
  );
  const { answered, failed, waiting, coldStarts, measured, averageSeconds, within } = functionCalls(own);
  const failures = failed.reduce((sum, [, count]) => sum + count, 0);
  const most = within(0.99);
  return (
    <dl class="facts numbers">
      <Fact title="Calls" value={answered.toLocaleString('en')} />
      <Fact
        title="Failed"
        value={failures.toLocaleString('en')}
        isBad={failures > 0}
        more={failed.map(([code, count]) => `${count} with ${code}`).join(', ')}
      />
      <Fact title="Mean time" value={measured > 0 ? secondsText(averageSeconds) : '–'} />
      <Fact title="99% within" value={measured > 0 && Number.isFinite(most) ? secondsText(most) : '–'} />
      <Fact title="Cold starts" value={coldStarts.toLocaleString('en')} />
      <Fact title="Waiting" value={String(waiting)} />
    </dl>
  );
}

interface FactProps {
  readonly title: string;
  readonly value: string;
  readonly isBad?: boolean;
  readonly more?: string;
}

const Fact = ({ title, value, isBad = false, more = '' }: FactProps) => (
  <div title={more}>
    <dt>{title}</dt>
    <dd class={isBad ? 'bad' : undefined}>{value}</dd>
  </div>
);
