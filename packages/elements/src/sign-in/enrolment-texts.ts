/** The texts of an enrolment, which few users see. They are loaded with its views, in all languages. */
const english = {
  scan_qr: 'Scan this with your authenticator app, then type the code that it shows.',
  qr: 'QR code for the authenticator app',
  or_type: 'Or type this key into the app:',
  add_passkey: 'Add a passkey',
  recovery_codes: 'Recovery codes',
  recovery_codes_once:
    'Each code works once, if you have lost your second factor. Keep them in a safe place: nobody can show them again.',
  codes_saved: 'I have saved them',
  copy: 'Copy all',
  copied: 'Copied',
  download: 'Download',
  codes_file: 'recovery-codes',
};
const spanish: typeof english = {
  scan_qr: 'Escanea esto con tu aplicación de autenticación y escribe el código que muestra.',
  qr: 'Código QR para la aplicación de autenticación',
  or_type: 'O escribe esta clave en la aplicación:',
  add_passkey: 'Añadir una llave de acceso',
  recovery_codes: 'Códigos de recuperación',
  recovery_codes_once:
    'Cada código vale una vez si pierdes tu segundo factor. Guárdalos en un lugar seguro: nadie puede mostrarlos otra vez.',
  codes_saved: 'Los he guardado',
  copy: 'Copiar todos',
  copied: 'Copiado',
  download: 'Descargar',
  codes_file: 'codigos-de-recuperacion',
};

export const enrolmentTexts = (language: string): typeof english => (/^es\b/i.test(language) ? spanish : english);
