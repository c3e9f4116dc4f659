/** The colors: those that the system prefers, or those that the user chose. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'minik8s.theme';
const themes: readonly Theme[] = ['system', 'light', 'dark'];

const stored = localStorage.getItem(storageKey);
export const theme = signal<Theme>(themes.find((each) => each === stored) ?? 'system');

/** Keeps the document's colors equal to the choice. */
export function applyTheme(): void {
  effect(() => {
    if (theme.value === 'system') {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(storageKey);
    } else {
      document.documentElement.dataset.theme = theme.value;
      localStorage.setItem(storageKey, theme.value);
    }
  });
}

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
}
