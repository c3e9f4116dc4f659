/** The text editor: CodeMirror in a shadow root, whose style sheets need no inline styles. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export interface Suggested {
  readonly label: string;
  readonly detail: string;
  readonly info: string;
  /** Text to insert. */
  readonly insert: string;
}

export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  /** Returns suggestions for a position, and where the word that they replace begins. */
  readonly suggest: (
    text: string,
    offset: number,
  ) => { readonly from: number; readonly list: readonly Suggested[] } | undefined;
}

export interface Fault {
  readonly offset: number;
  readonly message: string;
}

export interface Editor {
  readonly text: string;
  setText(text: string): void;
  setFaults(faults: readonly Fault[]): void;
  focus(): void;
  destroy(): void;
}

const colors = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--waiting)' },
  { tag: tags.comment, color: 'var(--faint)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator], color: 'var(--faint)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--panel)', color: 'var(--text)', fontSize: '13px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--faint)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--selected)',
  },
  '.cm-selectionMatch': { backgroundColor: 'var(--waiting-soft)' },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
  },
  '.cm-tooltip.cm-completionInfo': { maxWidth: '420px', padding: '6px 10px', whiteSpace: 'pre-wrap' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--selected)',
    color: 'var(--text)',
  },
  '.cm-completionDetail': { color: 'var(--faint)', fontStyle: 'normal' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)' },
});

export function createEditor(root: ShadowRoot, options: EditorOptions): Editor {
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: options.text, extensions: extensionsOf(options) }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    setText(text) {
      if (text === view.state.doc.toString()) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    setFaults(faults) {
      view.dispatch(
        setDiagnostics(
          view.state,
          faults.map((fault) => diagnosticOf(view.state, fault)),
        ),
      );
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function diagnosticOf(state: EditorState, { offset, message }: Fault): Diagnostic {
  const line = state.doc.lineAt(Math.max(0, Math.min(offset, state.doc.length)));
  return { from: Math.min(offset, line.to), to: line.to, severity: 'error', message };
}

function extensionsOf({ label, isReadOnly, onChange, suggest }: EditorOptions): Extension {
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    history(),
    bracketMatching(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    yaml(),
    syntaxHighlighting(colors),
    look,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
    EditorState.readOnly.of(isReadOnly),
    autocompletion({ override: [(context) => completions(context, suggest)], icons: false }),
    keymap.of([
      ...completionKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      // The Tab key leaves the editor, as it leaves any field.
      { key: 'Mod-]', run: indentMore },
      { key: 'Mod-[', run: indentLess },
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
}

function completions(context: CompletionContext, suggest: EditorOptions['suggest']) {
  const found = suggest(context.state.doc.toString(), context.pos);
  if (!found || (!context.explicit && found.from === context.pos)) return null;
  return {
    from: found.from,
    validFor: /^[\w.-]*$/,
    options: found.list.map(
      ({ label, detail, info, insert }): Completion => ({
        label,
        detail,
        apply: insert,
        ...(info !== '' && { info }),
      }),
    ),
  };
}
