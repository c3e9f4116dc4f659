/** The logs of the chosen containers with a search, for the page of logs and for the tabs of objects. */
import { type Signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { seen } from '../../cluster/seen.ts';
import { Icon } from '../../shell/icon.tsx';
import { isNarrow } from '../../shell/screen.ts';
import { LogFollower } from './follow.ts';
import { Lines, type Look } from './lines.tsx';
import type { LogLine, MergedLog } from './plan/log-lines.ts';
import { logSearch } from './plan/log-search.ts';
import { type LogChoice, type LogSource, logSources, maxSources } from './plan/log-sources.ts';

interface Props {
  readonly choice: LogChoice;
}

/** Lines of each log that are read at first. */
const tails = [100, 1000, 10_000] as const;
/** Without HTTP/2 a browser opens six connections at most, of which other requests need some. */
const maxFollowed = location.protocol === 'https:' ? maxSources : 4;

export function LogView({ choice }: Props) {
  const look = useSignal<Look>({ hasTimes: !isNarrow.value, hasNames: !isNarrow.value, isWrapped: false });
  const range = useSignal({ isPrevious: false, tail: tails[0] as number });
  const text = useSignal('');
  const pods = seen('pods', { namespace: choice.namespace });
  const all = useMemo(() => logSources(pods.items, choice), [pods.items, ...Object.values(choice)]);
  const { follower, followed } = useFollower(all, choice, range.value);
  const search = useComputed(() => logSearch(text.value));
  const found = search.value;
  const { log, failures, isLoading } = follower.state.value;
  const shown = useMemo(() => matching(log.lines, found, text.value), [log, found]);
  const { sources } = follower;
  return (
    <div class="log-view">
      <div class="log-bar">
        <SearchField text={text} hasFault={'fault' in found} />
        <span class="faint" role="status">
          {'fault' in found ? <span class="bad">{found.fault}</span> : countText(shown.length, log)}
        </span>
        <span class="grow" />
        <Toggles look={look} range={range} hasPrevious={all.some(({ restarts }) => restarts > 0)} />
        <button
          type="button"
          class="icon-only"
          aria-label="Save the lines"
          title="Save the lines"
          onClick={() => save(shown, sources)}
        >
          <Icon path="M12 4v11M7 11l5 5 5-5M4 20h16" />
        </button>
      </div>
      <Remarks
        all={all.length}
        followed={followed}
        failures={failures}
        named={sources}
        refused={pods.refused}
      />
      {shown.length === 0 ? (
        <p class="empty">{emptyText(all, isLoading || !pods.synced, text.value)}</p>
      ) : (
        <Lines
          lines={shown}
          sources={sources}
          search={'matches' in found ? found : everything}
          look={{ ...look.value, hasNames: look.value.hasNames && sources.length > 1 }}
        />
      )}
    </div>
  );
}

interface Range {
  /** True for the runs before the last restart. */
  readonly isPrevious: boolean;
  /** Lines of each log that are read at first. */
  readonly tail: number;
}

/** Follows the logs of containers while the component is shown. */
function useFollower(all: readonly LogSource[], choice: LogChoice, { isPrevious, tail }: Range) {
  const wanted = all.filter(({ restarts }) => !isPrevious || restarts > 0).slice(0, maxFollowed);
  const follower = useMemo(
    () => new LogFollower({ isFollowing: true, isPrevious, tail, since: '' }),
    [isPrevious, tail, ...Object.values(choice)],
  );
  useEffect(() => () => follower.end(), [follower]);
  const states = wanted.map(
    ({ id, isStarted, isRunning, restarts }) => `${id} ${isStarted} ${isRunning} ${restarts}`,
  );
  useEffect(() => follower.follow(wanted), [follower, states.join()]);
  return { follower, followed: wanted.length };
}

const matching = (
  lines: readonly LogLine[],
  search: ReturnType<typeof logSearch>,
  text: string,
): readonly LogLine[] =>
  text === '' || 'fault' in search ? lines : lines.filter((line) => search.matches(line.text));

const SearchField = ({ text, hasFault }: { readonly text: Signal<string>; readonly hasFault: boolean }) => (
  <div class="filter">
    <input
      type="search"
      aria-label="Search the log"
      aria-invalid={hasFault}
      placeholder="Search: text, /regex/, !without"
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={(event) => {
        text.value = event.currentTarget.value;
      }}
    />
  </div>
);

interface ToggleProps {
  readonly look: Signal<Look>;
  readonly range: Signal<Range>;
  readonly hasPrevious: boolean;
}

function Toggles({ look, range, hasPrevious }: ToggleProps) {
  const toggle = (name: keyof Look) => () => {
    look.value = { ...look.value, [name]: !look.value[name] };
  };
  const { isPrevious, tail } = range.value;
  return (
    <>
      <Toggle title="Times" isOn={look.value.hasTimes} change={toggle('hasTimes')} />
      <Toggle title="Names" isOn={look.value.hasNames} change={toggle('hasNames')} />
      <Toggle title="Wrap" isOn={look.value.isWrapped} change={toggle('isWrapped')} />
      {(hasPrevious || isPrevious) && (
        <Toggle
          title="Before restart"
          isOn={isPrevious}
          change={() => {
            range.value = { tail, isPrevious: !isPrevious };
          }}
        />
      )}
      <label>
        <span class="hidden-label">Lines of each log</span>
        <select
          value={tail}
          onChange={(event) => {
            range.value = { isPrevious, tail: Number(event.currentTarget.value) };
          }}
        >
          {tails.map((count) => (
            <option key={count} value={count}>
              last {count}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

const everything = { matches: () => true, spans: () => [] };

const Toggle = ({
  title,
  isOn,
  change,
}: {
  readonly title: string;
  readonly isOn: boolean;
  readonly change: () => void;
}) => (
  <button type="button" class="state-filter" aria-pressed={isOn} onClick={change}>
    {title}
  </button>
);

function countText(shown: number, { lines, dropped }: MergedLog): string {
  const all = lines.length.toLocaleString('en');
  const text = shown === lines.length ? `${all} lines` : `${shown.toLocaleString('en')} of ${all} lines`;
  return dropped > 0 ? `${text}, older ones left out` : text;
}

function emptyText(all: readonly LogSource[], isLoading: boolean, search: string): string {
  if (isLoading && all.length === 0) return 'Loading…';
  if (all.length === 0) return 'No containers here.';
  if (all.every(({ isStarted }) => !isStarted)) return 'The containers have not been started yet.';
  if (search !== '') return `No line matches ${search}`;
  return isLoading ? 'Loading…' : 'The containers have written nothing.';
}

interface RemarkProps {
  readonly all: number;
  readonly followed: number;
  readonly failures: ReadonlyMap<number, string>;
  readonly named: readonly LogSource[];
  readonly refused: boolean;
}

function Remarks({ all, followed, failures, named, refused }: RemarkProps) {
  return (
    <>
      {refused && (
        <p class="notice bad">You may not list the pods here. Choose a namespace in which you may.</p>
      )}
      {all > followed && followed === maxFollowed && (
        <p class="notice">
          The first {followed} of {all} containers are followed. Choose fewer pods to see the others.
        </p>
      )}
      {[...failures].map(([number, failure]) => (
        <p key={number} class="notice">
          {named[number]?.pod}/{named[number]?.container}: {failure}
        </p>
      ))}
    </>
  );
}

/** Saves the lines as a file of the browser. */
function save(lines: readonly LogLine[], sources: readonly LogSource[]): void {
  const text = lines.map(({ stamp, source, text: line }) => {
    const of = sources[source];
    return `${stamp} ${of ? `${of.pod}/${of.container} ` : ''}${line}\n`;
  });
  const address = URL.createObjectURL(new Blob(text, { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = 'minik8s.log';
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
