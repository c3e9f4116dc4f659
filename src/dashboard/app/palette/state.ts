/** State of the command palette: open or closed. */
import { signal } from '@preact/signals';

export const isPaletteOpen = signal(false);
