// The client of a React Native app that uses Expo. Copy this file into your app, and import `postern` where you need it.
import { createPostern } from '@postern/client';
// The `fetch` of React Native cannot read streams. This one can.
import { fetch } from 'expo/fetch';
import * as SecureStore from 'expo-secure-store';
import { AppState, Platform } from 'react-native';
import { Passkey } from 'react-native-passkey';

export const postern = createPostern({
  url: 'https://auth.example.com',
  fetch,
  // The login is in the keychain of iOS or in the keystore of Android.
  storage: {
    get: (key) => SecureStore.getItemAsync(key),
    set: (key, value) => SecureStore.setItemAsync(key, value),
    delete: (key) => SecureStore.deleteItemAsync(key),
  },
  device: { os_name: Platform.OS, os_version: String(Platform.Version) },
  passkeys: { get: (options) => Passkey.get(options), create: (options) => Passkey.create(options) },
  // An app in the background loses its connections. It reads what is new when it is used again.
  onResume(wake) {
    const subscription = AppState.addEventListener('change', (state) => {
      if (state === 'active') wake();
    });
    return () => subscription.remove();
  },
});
