/** Cards of what needs attention: each first cause with its evidence and the change that mends it. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ObjectRef } from '../../../../why/kinds.ts';
import type { LogQuestion, Mend, Severity } from '../../../../why/rule.ts';
import { may } from '../../cluster/access.ts';
import { kindsByKey } from '../../cluster/kinds.ts';
import { request } from '../../cluster/request.ts';
import { CopyLine } from '../../shell/copy-line.tsx';
import { objectHref } from '../../shell/plan/addresses.ts';
import { logPath } from '../logs/plan/log-sources.ts';
import { type Card, commandOf, fullName } from './plan/attention.ts';

export const severityHealth: Readonly<Record<Severity, string>> = {
  broken: 'bad',
  degraded: 'waiting',
  waiting: 'neutral',
};

export const ObjectLink = ({ of }: { readonly of: ObjectRef }) => (
  <a href={objectHref(of.key, of.namespace, of.name)}>{fullName(of)}</a>
);

export function CauseCard({ card }: { readonly card: Card }) {
  const { severity, subject, steps, evidence, mend, log, others } = card;
  const [first, ...rest] = steps;
  return (
    <article class={`panel cause ${severityHealth[severity]}`} aria-label={fullName(subject)}>
      <header>
        <span class={`chip ${severityHealth[severity]}`}>{severity}</span>
        <h3>
          <ObjectLink of={subject} />
        </h3>
      </header>
      <ol class="chain">
        {first && <li class={rest.length === 0 ? 'cause-end' : undefined}>{first.says}</li>}
        {rest.map(({ about, says }, i) => (
          <li key={fullName(about)} class={i === rest.length - 1 ? 'cause-end' : undefined}>
            <ObjectLink of={about} /> {says}
          </li>
        ))}
      </ol>
      {evidence.length > 0 && (
        <ul class="evidence">
          {evidence.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {log && <LogTail question={log} />}
      {mend.map((one, i) => (
        <Change key={'advice' in one ? one.advice : one.command} of={one} title={i === 0 ? 'Mend' : 'or'} />
      ))}
      {others.length > 0 && <Others others={others} />}
    </article>
  );
}

function Change({ of, title }: { readonly of: Mend; readonly title: string }) {
  const command = commandOf(of);
  return (
    <div class="mend">
      <span class="faint">{title}</span>
      {command === undefined ? (
        <p>{'advice' in of && of.advice}</p>
      ) : (
        <CopyLine text={command} about={'about' in of ? of.about : undefined} />
      )}
    </div>
  );
}

const shownOthers = 6;

function Others({ others }: { readonly others: readonly ObjectRef[] }) {
  const isOpen = useSignal(false);
  const shown = isOpen.value ? others : others.slice(0, shownOthers);
  return (
    <p class="also">
      <span class="faint">Also: </span>
      {shown.map((other, i) => (
        <span key={fullName(other)}>
          {i > 0 && ', '}
          <ObjectLink of={other} />
        </span>
      ))}
      {others.length > shown.length && (
        <button
          type="button"
          class="quiet small"
          onClick={() => {
            isOpen.value = true;
          }}
        >
          {others.length - shown.length} more
        </button>
      )}
    </p>
  );
}

const tail = 5;

/** The last lines of a container that failed. */
function LogTail({ question: { pod, container, previous } }: { readonly question: LogQuestion }) {
  const text = useSignal('');
  const kind = kindsByKey.value.get('pods');
  const isAllowed = kind !== undefined && may('get', kind, pod.namespace, { subresource: 'log' });
  useEffect(() => {
    if (!isAllowed) return;
    const source = {
      namespace: pod.namespace,
      pod: pod.name,
      container,
      id: '',
      ...{ isStarted: true, isRunning: false },
      restarts: 0,
    };
    const options = { isFollowing: false, isPrevious: previous, tail, since: '' };
    const path = logPath(source, options).replace('timestamps=true&', '');
    request(path)
      .then((response) => response.text())
      .then(
        (found) => {
          text.value = found.trimEnd();
        },
        // A log that cannot be read is left out: the evidence does not depend on it.
        () => undefined,
      );
  }, [isAllowed, pod.namespace, pod.name, container, previous]);
  return text.value === '' ? null : <pre class="log-tail">{text}</pre>;
}
