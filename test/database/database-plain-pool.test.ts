import { expect, test } from 'vitest';
import { createPlainPool } from '../../src/database/database.js';
import { createTestDatabase } from '../support/database.js';

test('a library may release a connection of its pool twice, and the pool stays usable', async () => {
  const { target, drop } = await createTestDatabase();
  const pool = createPlainPool(target, 1, () => undefined);
  await new Promise<void>((resolve, reject) => {
    pool.connect((error, _client, release) => {
      if (error !== undefined) return reject(error);
      try {
        release();
        release();
        resolve();
      } catch (failure) {
        reject(failure);
      }
    });
  });
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  expect(pool.totalCount).toBe(1);
  await pool.end();
  await drop();
});
