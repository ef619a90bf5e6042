import type { Generated } from 'kysely';

/** The tables, the same in SQLite and PostgreSQL. Times are milliseconds since 1970. */
export interface Schema {
  readonly plants: {
    readonly id: Generated<number>;
    readonly name: string;
    readonly category: string | null;
    readonly status: string;
    /** The tags as they were received, as JSON text: read far more often than changed, and sent as it is. */
    readonly tags: string;
    /** Name and category as compared in a search. */
    readonly name_key: Generated<string>;
    readonly category_key: string | null;
  };
  /** Which plants have which tag, for searching: the key is the tag as compared. */
  readonly plant_tags: {
    readonly tag_key: string;
    readonly plant_id: number;
  };
  readonly users: {
    readonly id: Generated<number>;
    readonly username: string;
    /** The user name as compared: lower case. */
    readonly username_key: string;
    readonly email: string;
    readonly password_hash: string;
  };
  readonly sessions: {
    readonly token_hash: string;
    readonly user_id: number;
    readonly expires_at: number;
  };
  readonly login_failures: {
    readonly attempt: string;
    /** The user at an address, or the address, that it counts against; hashed. */
    readonly subject: string;
    readonly failed_at: number;
  };
  /** The newest events, for instances that lost their connection; only in PostgreSQL. */
  readonly plant_events: {
    readonly id: number;
    readonly event: string;
    readonly created_at: number;
  };
  /** One row, locked while events are added: see appendEvents. */
  readonly plant_event_counter: {
    readonly last_id: number;
  };
  readonly plant_store_migrations: {
    readonly name: string;
    readonly applied_at: number;
  };
}
