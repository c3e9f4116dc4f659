/** One line of the command palette. */
import type { ComponentChildren } from 'preact';
import type { ObjectAction } from '../actions/action.ts';
import type { Command } from '../pages/page.ts';
import type { SearchItem } from '../search/plan/search-item.ts';
import { titleOf } from '../shell/plan/kind-groups.ts';
import type { Entry } from './plan/entries.ts';

interface Props {
  readonly entry: Entry<ObjectAction, Command>;
  readonly id: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

export function EntryLine({ entry, id, isChosen, onChoose }: Props) {
  return (
    <button
      type="button"
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      class="palette-entry"
      onClick={onChoose}
    >
      <Line entry={entry} />
    </button>
  );
}

function Line({ entry }: { readonly entry: Props['entry'] }) {
  switch (entry.type) {
    case 'object':
      return <ObjectLine item={entry.found.item} why={entry.found.why} />;
    case 'action':
      return (
        <Parts kind={entry.item.kind.kind} note={entry.item.object.metadata.namespace ?? ''}>
          <span class={entry.action.isDangerous ? 'bad' : undefined}>{entry.action.title}</span>{' '}
          {entry.item.object.metadata.name}
        </Parts>
      );
    case 'kind':
      return (
        <Parts kind="Table" note={entry.kind.group}>
          {titleOf(entry.kind)}
        </Parts>
      );
    case 'all':
      return (
        <Parts kind="Table" note={entry.filter}>
          All {entry.total.toLocaleString('en')} in the table of {titleOf(entry.kind)}
        </Parts>
      );
    case 'command':
      return (
        <Parts kind="" note={entry.command.words ?? ''}>
          {entry.command.title}
        </Parts>
      );
  }
}

function ObjectLine({ item, why }: { readonly item: SearchItem; readonly why: string }) {
  const { namespace = '', name } = item.object.metadata;
  return (
    <Parts kind={item.kind.kind} note={[namespace, why].filter((text) => text !== '').join(' · ')}>
      {item.health && <span class={`dot ${item.health}`} aria-hidden="true" />}
      {name}
      {item.health === 'bad' && <span class="hidden-label"> in trouble</span>}
    </Parts>
  );
}

interface PartsProps {
  readonly kind: string;
  readonly note: string;
  readonly children: ComponentChildren;
}

const Parts = ({ kind, note, children }: PartsProps) => (
  <>
    <span class="palette-name">{children}</span>
    <span class="palette-note">{note}</span>
    <span class="palette-kind">{kind}</span>
  </>
);
