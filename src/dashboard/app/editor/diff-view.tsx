import { type DiffLine, diffLines, foldDiff, hasChanges } from './plan/line-diff.ts';

interface Props {
  readonly before: string;
  readonly after: string;
}

const marks = { same: ' ', added: '+', removed: '−' } as const;
const spoken = { same: '', added: 'added: ', removed: 'removed: ' } as const;

/** The difference of two texts, line by line. */
export function DiffView({ before, after }: Props) {
  const lines = diffLines(before, after);
  if (!hasChanges(lines)) return <p class="empty">The server would change nothing.</p>;
  return (
    <section class="diff" aria-label="Changes">
      {foldDiff(lines).map((part) =>
        'hidden' in part ? (
          <p key={`hidden ${part.hidden}`} class="faint">
            {part.hidden} unchanged {part.hidden === 1 ? 'line' : 'lines'}
          </p>
        ) : (
          part.lines.map((line) => <Line key={`${line.type} ${line.number}`} {...line} />)
        ),
      )}
    </section>
  );
}

const Line = ({ type, text }: DiffLine) => (
  <pre class={`diff-${type}`}>
    <span aria-hidden="true">{marks[type]} </span>
    <span class="hidden-label">{spoken[type]}</span>
    {text}
  </pre>
);
