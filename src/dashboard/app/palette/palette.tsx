/** The command palette: one field that finds objects, kinds, pages and the actions on them. */
import { computed, type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ObjectAction } from '../actions/action.ts';
import { actionsOn } from '../actions/index.ts';
import { may, rulesVersion } from '../cluster/access.ts';
import { kinds } from '../cluster/kinds.ts';
import type { Command } from '../pages/page.ts';
import type { SearchItem } from '../search/plan/search-item.ts';
import { followObjects, refreshListed, searchable } from '../search/search-index.ts';
import { orNotify } from '../shell/dialog.tsx';
import { kindHref, objectHref } from '../shell/plan/addresses.ts';
import { navigate } from '../shell/router.ts';
import { namespace } from '../shell/scope.ts';
import { commands } from './commands.ts';
import { EntryLine } from './entry-line.tsx';
import { type Entry, entriesFor } from './plan/entries.ts';
import { isPaletteOpen } from './state.ts';

type PaletteEntry = Entry<ObjectAction, Command>;

/** Opens the palette by its shortcut, on every page. */
export function listenForShortcut(): void {
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    event.preventDefault();
    isPaletteOpen.value = !isPaletteOpen.value;
  });
}

export const PalettePlace = () => (isPaletteOpen.value ? <Palette /> : null);

const listedKinds = computed(() =>
  kinds.value.filter((kind) => kind.verbs.includes('list') && may('list', kind, namespace.value)),
);

const actionEntries = (item: SearchItem): PaletteEntry[] =>
  actionsOn(item.kind, item.object).map((action) => ({
    type: 'action',
    id: `action ${action.title}`,
    action,
    item,
  }));

/** Returns the address to which an entry leads; undefined for one that does something. */
function hrefOf(entry: PaletteEntry): string | undefined {
  switch (entry.type) {
    case 'object': {
      const { kind, object } = entry.found.item;
      return objectHref(kind.key, object.metadata.namespace ?? '', object.metadata.name);
    }
    case 'kind':
      return kindHref(entry.kind.key);
    case 'all':
      return kindHref(entry.kind.key, { q: entry.filter });
    default:
      return undefined;
  }
}

function run(entry: PaletteEntry): void {
  isPaletteOpen.value = false;
  const href = hrefOf(entry);
  if (href !== undefined) navigate(href);
  else if (entry.type === 'action') void orNotify(() => entry.action.run(entry.item.kind, entry.item.object));
  else if (entry.type === 'command') void orNotify(() => entry.command.run());
}

interface State {
  readonly text: Signal<string>;
  readonly chosen: Signal<number>;
  /** Object of which only the actions are shown. */
  readonly subject: Signal<SearchItem | undefined>;
}

function useEntries({ text, subject }: State): readonly PaletteEntry[] {
  const { items } = searchable.value;
  const list = listedKinds.value;
  return useMemo(() => {
    if (subject.value) return actionEntries(subject.value);
    return entriesFor<ObjectAction, Command>(text.value, {
      items,
      kinds: list,
      commands: commands(),
      actionsOn: ({ kind, object }) => actionsOn(kind, object),
    });
  }, [text.value, subject.value, items, list, rulesVersion.value]);
}

function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const state: State = {
    text: useSignal(''),
    chosen: useSignal(0),
    subject: useSignal<SearchItem | undefined>(undefined),
  };
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(followObjects, []);
  // Runs again when the kinds or the rights that it reads change.
  useSignalEffect(() => void refreshListed());
  const entries = useEntries(state);
  const index = Math.min(state.chosen.value, Math.max(0, entries.length - 1));
  useEffect(() =>
    dialog.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }),
  );
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search or act"
      onClose={() => {
        isPaletteOpen.value = false;
      }}
      onClick={(event) => {
        if (event.target === dialog.current) isPaletteOpen.value = false;
      }}
      onKeyDown={(event) => {
        if (onKey(event.key, event.shiftKey, state, entries, index)) event.preventDefault();
      }}
    >
      <Field state={state} entries={entries} index={index} />
      <div id="palette-list" role="listbox" aria-label="Results" class="palette-list">
        {entries.map((entry, at) => (
          <EntryLine
            key={entry.id}
            entry={entry}
            id={`palette-${at}`}
            isChosen={at === index}
            onChoose={() => run(entry)}
          />
        ))}
      </div>
      <Foot text={state.text.value} count={entries.length} />
    </dialog>
  );
}

/** Handles a key; returns true if the palette uses it. */
function onKey(
  key: string,
  isShift: boolean,
  state: State,
  entries: readonly PaletteEntry[],
  index: number,
): boolean {
  const entry = entries[index];
  switch (key) {
    case 'ArrowDown':
      state.chosen.value = (index + 1) % Math.max(1, entries.length);
      return true;
    case 'ArrowUp':
      state.chosen.value = (index + entries.length - 1) % Math.max(1, entries.length);
      return true;
    case 'Enter':
      if (entry) run(entry);
      return true;
    case 'Tab':
      if (isShift || entry?.type !== 'object') return true;
      state.subject.value = entry.found.item;
      state.chosen.value = 0;
      return true;
    case 'Backspace':
      if (!state.subject.value) return false;
      state.subject.value = undefined;
      return true;
    default:
      return false;
  }
}

function Field({ state, entries, index }: { state: State; entries: readonly PaletteEntry[]; index: number }) {
  const { text, chosen, subject } = state;
  const name = subject.value?.object.metadata.name;
  return (
    <div class="palette-field">
      {name !== undefined && <span class="chip">{name}</span>}
      <input
        role="combobox"
        aria-label="Search or act"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries.length > 0 ? `palette-${index}` : undefined}
        placeholder={
          name === undefined
            ? 'Search or act: web not:ready, kind:pod node:vm2, delete web'
            : 'Choose an action'
        }
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = 0;
          subject.value = undefined;
        }}
      />
    </div>
  );
}

function Foot({ text, count }: { readonly text: string; readonly count: number }) {
  const { items, isComplete } = searchable.value;
  return (
    <div class="palette-foot">
      <span role="status">
        {text !== '' && count === 0 ? 'Nothing found. ' : ''}
        {items.length.toLocaleString('en')} objects{isComplete ? '' : ', more are being read…'}
      </span>
      <span class="keys">
        <kbd>↑↓</kbd> choose <kbd>↵</kbd> open <kbd>Tab</kbd> actions <kbd>Esc</kbd> close
      </span>
    </div>
  );
}
