import { createMemoryStore } from '../fixtures/memory-store.ts';
import { storeSuite } from './store.ts';

storeSuite('memory', async () => createMemoryStore());
